"""The subjects, each on the public interface of its package. They run in separate processes."""
