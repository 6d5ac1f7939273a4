// Command pocketbase is PocketBase as a program of its own, without hooks or extensions.
package main

import (
	"log"
	"runtime/debug"
	"strings"

	"github.com/pocketbase/pocketbase"
)

const module = "github.com/pocketbase/pocketbase"

func main() {
	app := pocketbase.New()
	app.RootCmd.Version = version()
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
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
