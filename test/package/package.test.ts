import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brokenLinks } from '../support/links.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const run = promisify(execFile)

/** Files that a checkout has once it was used, none of which is for others. */
const LEFT_BY_USE = ['provenance.jsonl', 'sheet.db', 'sheet.db-wal', 'sheet.db.lock', '.env', 'private.csv']

let folder: string
/** The packed files, unpacked, with the dependencies beside them. */
let installed: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'colophon-package-'))
  const checkout = join(folder, 'checkout')
  const left = new Set(['node_modules', '.git', '.cache', 'dist', 'coverage'])
  const isSource = (path: string): boolean => !left.has(relative(ROOT, path))
  await cp(ROOT, checkout, { recursive: true, filter: isSource })
  await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  for (const name of LEFT_BY_USE) await writeFile(join(checkout, 'examples', 'countries', name), 'mine')

  const args = ['pack', '--silent', '--pack-destination', folder]
  const npm = process.env['npm_execpath']
  await (npm === undefined
    ? run('npm', args, { cwd: checkout })
    : run(process.execPath, [npm, ...args], { cwd: checkout }))
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? ''
  await run('tar', ['-xzf', archive], { cwd: folder })
  installed = join(folder, 'package')
})

after(() => rm(folder, { recursive: true, force: true }))

test('the package has the files of the example, without files that its use leaves behind', async () => {
  const example = await readdir(join(installed, 'examples', 'countries'))
  assert.deepEqual(example.toSorted(), [
    'LICENSE-DATA.md',
    'README.md',
    'api',
    'contract.yaml',
    'derivations',
    'records.jsonl',
    'refs',
    'transport.yaml',
  ])
  const all = await readdir(installed, { recursive: true })
  assert.deepEqual(
    all.filter((path) => /\.test\.|(^|\/)(src|test|\.cache|node_modules)(\/|$)/.test(path)),
    [],
  )
})

test('links between the pages of the package lead somewhere', () => {
  assert.deepEqual(brokenLinks(installed), [])
})

test('the installed command works', async () => {
  await symlink(join(ROOT, 'node_modules'), join(installed, 'node_modules'))
  const command = join(installed, 'bin', 'colophon.js')
  const { stdout } = await run(process.execPath, [
    command,
    'validate',
    join(installed, 'examples', 'countries'),
  ])
  assert.match(stdout, /valid/)
})

test('a runtime without support for the engine gets a one-sentence error, whichever name it imports', async () => {
  const url = (file: string): string => JSON.stringify(pathToFileURL(join(installed, 'dist', file)))
  const program = `
    const names = Object.keys(await import(${url('index.js')})).join(', ')
    try {
      await import('data:text/javascript,' + encodeURIComponent('import {' + names + '} from ' + ${JSON.stringify(url('unsupported.js'))}))
    } catch (error) {
      console.log(error.message)
    }`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program])
  assert.equal(stdout, `colophon needs Node.js 24.20 or newer; this is Node.js ${process.versions.node}\n`)
})

for (const [runtime, versions, message] of [
  [
    'an old Node',
    { node: '20.1.0' },
    /^colophon needs Node\.js 24\.20 or newer; this is 20\.1\.0, .* install Node\.js 24 .*\n$/,
  ],
  ['Deno', { deno: '2.9.6' }, /^colophon runs on Node\.js 24\.20 or newer; Deno is not supported\n$/],
] as const) {
  test(`the command on ${runtime} prints its requirements in one line`, async () => {
    const alone = join(folder, `alone-${runtime}`)
    await cp(join(installed, 'bin'), join(alone, 'bin'), { recursive: true })
    const stand = `Object.defineProperty(process, 'versions', { value: { ...process.versions, ...${JSON.stringify(versions)} } })`
    const args = [
      '--import',
      `data:text/javascript,${encodeURIComponent(stand)}`,
      join(alone, 'bin', 'colophon.js'),
    ]
    await assert.rejects(run(process.execPath, args), (error: { code: number; stderr: string }) => {
      assert.equal(error.code, 1)
      assert.match(error.stderr, message)
      return true
    })
  })
}
