"""Internet access, when the user allows it: pages, robots.txt, search engines."""
