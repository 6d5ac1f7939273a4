import json, sys
codes = {"Chile": "CL", "Kenya": "KE", "Japan": "JP"}
print(codes.get(json.loads(sys.argv[2])["country"], "??"))
