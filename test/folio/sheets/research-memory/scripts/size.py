import json, sys
print("long" if json.loads(sys.argv[2])["words"] > 3 else "short")
