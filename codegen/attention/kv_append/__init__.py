"""kv_append: keys and values of new tokens into slots of a cache of pages."""
