import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'

const LOCKFILE = {
  packages: {
    '': { name: 'project', version: '1.0.0' },
    'node_modules/one': { version: '1.0.0', integrity: 'sha512-one' },
    'node_modules/elsewhere': { version: '1.0.0', integrity: 'sha512-elsewhere', optional: true },
  },
}

const INSTALLED = { packages: { 'node_modules/one': LOCKFILE.packages['node_modules/one'] } }

/** Stands in for npm: writes down how it was called, takes a moment, and installs what the lockfile says. */
const NPM = `
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs')
appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n')
if (process.env.NPM_FAILS) process.exit(1)
setTimeout(() => {
  mkdirSync('node_modules', { recursive: true })
  writeFileSync('node_modules/.package-lock.json', ${JSON.stringify(JSON.stringify(INSTALLED))})
}, 50)
`

let project: string

beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'colophon-setup-'))
  await mkdir(join(project, 'scripts'))
  for (const name of ['setup.mjs', 'node24.mjs']) {
    await cp(join(import.meta.dirname, name), join(project, 'scripts', name))
  }
  await writeFile(join(project, 'package-lock.json'), JSON.stringify(LOCKFILE))
  await writeFile(join(project, 'npm-cli.js'), NPM)
})

afterEach(() => rm(project, { recursive: true }))

test('installs once when nothing is installed, then leaves npm alone', async () => {
  assert.equal((await setup()).code, 0)
  assert.equal((await setup()).code, 0)
  assert.deepEqual(await npmCalls(), [
    'ci --include=dev --include=optional --no-audit --no-fund --loglevel=error',
  ])
})

test('installs when the lockfile asks for another version', async () => {
  await install({ 'node_modules/one': { version: '0.9.0', integrity: 'sha512-older' } })
  assert.equal((await setup()).code, 0)
  assert.equal((await npmCalls()).length, 1)
})

test('a package for another platform need not be there', async () => {
  await install(INSTALLED.packages)
  assert.equal((await setup()).code, 0)
  assert.deepEqual(await npmCalls(), [])
})

test('of two at once only one installs, and both succeed', async () => {
  const [one, other] = await Promise.all([setup(), setup()])
  assert.deepEqual([one.code, other.code], [0, 0])
  assert.equal((await npmCalls()).length, 1)
})

test('the lock of a process that is gone holds nobody up', async () => {
  const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await new Promise((resolve) => gone.on('exit', resolve))
  await mkdir(join(project, '.cache'))
  await writeFile(join(project, '.cache', 'setup.lock'), String(gone.pid))
  assert.equal((await setup()).code, 0)
  assert.equal((await npmCalls()).length, 1)
})

test('says so and fails when npm fails', async () => {
  const { code, stdout, stderr } = await setup({ NPM_FAILS: '1' })
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /^colophon: npm ci failed: see above$/m)
  assert.equal((await setup()).code, 0)
})

async function install(packages: object): Promise<void> {
  await mkdir(join(project, 'node_modules'))
  await writeFile(join(project, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }))
}

async function npmCalls(): Promise<string[]> {
  const calls = await readFile(join(project, 'npm-calls'), 'utf8').catch(() => '')
  return calls.split('\n').slice(0, -1)
}

async function setup(
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(project, 'scripts', 'setup.mjs')], {
    env: {
      ...process.env,
      npm_execpath: join(project, 'npm-cli.js'),
      npm_node_execpath: process.execPath,
      ...env,
    },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, stdout, stderr }
}
