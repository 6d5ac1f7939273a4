/** Launches a program as `bin/colophon.js` does under an older Node, on this one: the arguments are its file and its arguments. */
import { endAs, launch } from '../../bin/launcher.js'

launch(process.execPath, process.argv.slice(2)).on('exit', endAs)
