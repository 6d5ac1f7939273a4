import json, sys
i = json.loads(sys.argv[2])
print("".join(word[0] for word in i["title"].split()))
