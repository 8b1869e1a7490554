"""The subjects, each written on the public interface of its package. They run outside of this one."""
