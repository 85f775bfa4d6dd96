"""The health of a store: statistics, hourly metrics and the findings of `doctor`."""
