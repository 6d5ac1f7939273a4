import json, sys
print(len(json.loads(sys.argv[2])["body"].split()))
