import datetime, json, sys
day = datetime.date.fromisoformat(json.loads(sys.argv[2])["start"])
print(json.dumps({"weekday": day.strftime("%A"), "week": day.isocalendar().week}))
