/*
 * Writes dist/unsupported.js, which replaces the engine on runtimes that cannot run it. It exports the same names, since an
 * import of a missing name would fail first, with a message about that name.
 *
 *   node scripts/build-unsupported.mjs [dist]
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './node24.mjs'

const dist = resolve(process.argv[2] ?? join(ROOT, 'dist'))
const names = Object.keys(await import(pathToFileURL(join(dist, 'index.js')).href))
const lines = [
  'const { deno, bun, node } = process.versions',
  "const runtime = deno ? 'Deno ' + deno : bun ? 'Bun ' + bun : 'Node.js ' + node",
  "throw new Error('colophon needs Node.js 24.20 or newer; this is ' + runtime)",
  `export let ${names.join(', ')}`,
  '',
]
writeFileSync(join(dist, 'unsupported.js'), lines.join('\n'))
