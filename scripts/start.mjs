/*
 * Serves a sheet.
 *
 *   npm start                          the example examples/countries, with the API that it calls
 *   npm start -- --port 4000           the same; options go to `colophon serve`
 *   npm start -- my-sheet --port 4000  another sheet
 */
import { join } from 'path'
import { endAs, launch } from '../bin/launcher.js'
import { findNode, missingNode, ROOT } from './node24.mjs'

const EXAMPLE = join(ROOT, 'examples', 'countries')
const COLOPHON = join(ROOT, 'bin', 'colophon.js')

const args = process.argv.slice(2)
const sheetNamed = args[0] !== undefined && !args[0].startsWith('-')

const node = findNode()
if (node === null) {
  fail(missingNode())
} else if (sheetNamed) {
  launch(node, [COLOPHON, 'serve', ...args]).on('exit', endAs)
} else if (node !== process.execPath) {
  launch(node, process.argv.slice(1)).on('exit', endAs) // since the API needs the newer Node.js too
} else {
  await serveExample()
}

async function serveExample() {
  const api = await startExampleApi()
  const serve = [COLOPHON, 'serve', EXAMPLE, '--actor', 'human:you', ...args]
  const child = launch(process.execPath, serve, { stdout: 'pipe' })
  const output = /** @type {import('stream').Readable} */ (child.stdout)
  output.pipe(process.stdout)
  // The reader has closed the output.
  process.stdout.on('error', () => process.kill(process.pid, 'SIGTERM'))
  tellWhenServing(output)
  child.on('close', (code, signal) => void api.close().then(() => endAs(code, signal)))
}

/**
 * Starts the API that the example's derivations call, or uses that of another `npm start`. COUNTRIES_API_PORT sets another
 * port, which the derivations of the example do not call.
 */
async function startExampleApi() {
  const { API_NAME, API_PORT, API_VERSION, startApi } = await import('../examples/countries/api/server.mjs')
  const port = Number(process.env.COUNTRIES_API_PORT || API_PORT)
  try {
    return await startApi({ port })
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EADDRINUSE') throw error
  }
  const other = await describe(`http://127.0.0.1:${port}/`)
  if (other?.name !== API_NAME || other.version !== API_VERSION) {
    fail(`port ${port}, where the example's API belongs, is taken by another program: stop that one first`)
  }
  console.log(`The example's API is running already on port ${port}.`)
  return { close: () => Promise.resolve() }
}

/**
 * Reads the JSON by which the server at an address identifies itself; null for anything else.
 *
 * @param {string} url
 */
async function describe(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) })
    return /** @type {{name?: unknown, version?: unknown} | null} */ (await response.json())
  } catch {
    return null
  }
}

/**
 * Prints what to try, once the service has printed its address.
 *
 * @param {import('stream').Readable} output of `colophon serve`
 */
function tellWhenServing(output) {
  let text = ''
  output.on('data', function listen(chunk) {
    text += chunk
    const address = /https?:\/\/[^\s"/]+/.exec(text.slice(0, text.lastIndexOf('\n') + 1))?.[0]
    if (address === undefined) return
    output.off('data', listen)
    const csrf = '-b svc_csrf=x -H "X-CSRF-Token: x" -H "Content-Type: application/json"'
    console.log(`
Try, in another terminal:
  curl "${address}/api/records?limit=3"
  curl ${csrf} -d {} ${address}/api/materialize
  curl "${address}/api/provenance?record_id=CH&field=currency_name"
`)
  })
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(`colophon: ${message}`)
  process.exit(1)
}
