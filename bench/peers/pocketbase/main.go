// Command pocketbase is PocketBase as a program of its own, without hooks or extensions. Its database syncs each commit.
package main

import (
	"log"
	"runtime/debug"
	"strings"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase"
)

const module = "github.com/pocketbase/pocketbase"

// settings are those of core.DefaultDBConnect, but for synchronous, which is NORMAL there: writes are then not durable when
// the power fails.
var settings = []string{
	"busy_timeout(10000)",
	"journal_mode(WAL)",
	"journal_size_limit(200000000)",
	"synchronous(FULL)",
	"foreign_keys(ON)",
	"temp_store(MEMORY)",
	"cache_size(-32000)",
}

func main() {
	app := pocketbase.NewWithConfig(pocketbase.Config{DBConnect: connect})
	app.RootCmd.Version = version()
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}

func connect(path string) (*dbx.DB, error) {
	return dbx.Open("sqlite", path+"?_pragma="+strings.Join(settings, "&_pragma="))
}

// version returns that of the module that go.mod names.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return "unknown"
}
