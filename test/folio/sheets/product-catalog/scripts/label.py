import json, sys
i = json.loads(sys.argv[2])
print(f"{i['title']} ({i['price']})")
