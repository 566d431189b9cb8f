"""Exchange files: untrusted bytes in, validated domain records out."""
