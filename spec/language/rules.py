def check_rules(f): pass
