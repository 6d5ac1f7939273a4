import json, sys
i = json.loads(sys.argv[2])
print(i["title"].lower().replace(" ", "-"))
