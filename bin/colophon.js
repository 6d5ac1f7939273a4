#!/usr/bin/env node
// Starts colophon on a Node.js that is new enough: this one, or the one installed beside it. Plain JavaScript for old versions.
import module, { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { endAs, followLauncher, launch } from './launcher.js'
import { programModule } from './program.js'

const NEEDED = { major: 24, minor: 20 }
const NEEDED_NODE = `Node.js ${NEEDED.major}.${NEEDED.minor}`
const root = dirname(dirname(fileURLToPath(import.meta.url)))

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const otherRuntime = process.versions.deno ? 'Deno' : process.versions.bun ? 'Bun' : undefined
if (otherRuntime !== undefined) {
  refuse(`colophon runs on ${NEEDED_NODE} or newer; ${otherRuntime} is not supported`)
} else if (major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor)) {
  runHere()
} else {
  const node = bundledNode()
  if (node === undefined) {
    refuse(
      `colophon needs ${NEEDED_NODE} or newer; this is ${process.versions.node}, and no newer one is ` +
        `installed beside it for ${process.platform}-${process.arch}: install Node.js 24 from https://nodejs.org/`,
    )
  } else {
    runWith(node)
  }
}

/** @param {string} message */
function refuse(message) {
  console.error(message)
  process.exitCode = 1
}

function runHere() {
  followLauncher()
  module.enableCompileCache()
  // Threads and child processes use the cache too, instead of stripping types and compiling again.
  const cache = module.getCompileCacheDir()
  if (cache !== undefined && !process.env.NODE_COMPILE_CACHE) process.env.NODE_COMPILE_CACHE = dirname(cache)
  void import(pathToFileURL(programModule(root)).href).then(({ main }) => main(process.argv))
}

/** Returns the path of the Node.js of the platform's package, if it is installed. */
function bundledNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const require = createRequire(join(root, 'package.json'))
  try {
    const folder = dirname(require.resolve(`node-${platform}-${process.arch}/package.json`))
    return join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  } catch {
    return undefined
  }
}

/** @param {string} node */
function runWith(node) {
  const child = launch(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)])
  child.on('error', (error) => {
    console.error(`colophon cannot start the Node.js installed beside it: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', endAs)
}
