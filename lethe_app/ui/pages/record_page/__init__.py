"""Kit of the pages that list records: what is listed, filtered, shown beside the list, stored and undone is declared."""
