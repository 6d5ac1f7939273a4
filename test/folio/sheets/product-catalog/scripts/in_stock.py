import json, sys
i = json.loads(sys.argv[2])
print("true" if i["stock"] > 0 else "false")
