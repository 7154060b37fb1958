"""The system topics: creation, expansion, deletion and reassignment of one topic under controllers that fail over."""
