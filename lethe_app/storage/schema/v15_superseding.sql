-- Why another fact superseded one; NULL for valid facts and for those that were superseded before this version.
ALTER TABLE facts ADD COLUMN superseded_because TEXT;
