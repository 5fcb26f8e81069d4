"""Training: the loop, teachers, distillation, and the methods that are made of them."""
