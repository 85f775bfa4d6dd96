"""Items: values that an application keeps under a namespace and a key."""
