import json, sys
i = json.loads(sys.argv[2])
print(json.dumps(i["points"] > 3))
