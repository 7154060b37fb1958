from hypothesis import settings

settings.register_profile("spec", settings.get_profile("untimed"), max_examples=40)
settings.load_profile("spec")
