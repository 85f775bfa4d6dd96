"""Recollect's bilingual embedder and judge: data only, found and read by recollect itself."""
