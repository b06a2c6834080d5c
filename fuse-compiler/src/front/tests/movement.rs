//! Concatenation, gathers and random numbers as graphs.
