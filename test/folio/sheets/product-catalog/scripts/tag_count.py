import json, sys
i = json.loads(sys.argv[2])
print(len(i["tags"] or []))
