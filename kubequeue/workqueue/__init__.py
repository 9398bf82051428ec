"""The line that keys wait in: two queues with one surface, and the limiters they ask."""
