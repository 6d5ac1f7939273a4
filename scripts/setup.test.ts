import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  access,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
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

/** Stands in for vite: writes down the configuration with which it was called, and builds. */
const VITE = `
const { appendFileSync, mkdirSync } = require('node:fs')
const { basename } = require('node:path')
appendFileSync('builds', basename(process.argv[process.argv.indexOf('--config') + 1]) + '\\n')
if (process.env.VITE_FAILS) { console.error('no such import'); process.exit(1) }
mkdirSync('web/dist', { recursive: true })
`

/** Stands in for the bundler. */
const BUNDLER = `
const { appendFileSync, mkdirSync, writeFileSync } = await import('node:fs')
appendFileSync('builds', 'program\\n')
if (process.env.BUNDLER_FAILS) { console.error('no such module'); process.exit(1) }
mkdirSync(process.argv[2], { recursive: true })
writeFileSync(process.argv[2] + '/main.js', '')
`

/** Programs that are there in all these tests, which are about the others. */
const OTHER_PROGRAMS = {
  COLOPHON_PGBOUNCER: process.execPath,
  COLOPHON_SCRIPT: process.execPath,
  COLOPHON_ZSH: process.execPath,
  COLOPHON_FISH: process.execPath,
  COLOPHON_GIT: process.execPath,
}

let project: string

beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'colophon-setup-'))
  await mkdir(join(project, 'scripts'))
  for (const name of ['setup.mjs', 'node24.mjs', 'program.mjs', 'test-programs.mjs', 'viewer.mjs']) {
    await cp(join(import.meta.dirname, name), join(project, 'scripts', name))
  }
  await writeFile(join(project, 'scripts', 'bundle.mjs'), BUNDLER)
  await mkdir(join(project, 'bin'))
  await cp(join(import.meta.dirname, '..', 'bin', 'program.js'), join(project, 'bin', 'program.js'))
  await writeFile(join(project, 'package-lock.json'), JSON.stringify(LOCKFILE))
  await writeFile(join(project, 'npm-cli.js'), NPM)
  for (const folder of ['web/src', 'web/public', 'src/wire', 'src/client', 'src/proof']) {
    await mkdir(join(project, folder), { recursive: true })
  }
  for (const name of ['index.html', 'vite.config.ts', 'verify.html', 'verify.config.ts', 'src/main.tsx']) {
    await writeFile(join(project, 'web', name), '')
  }
  await mkdir(join(project, 'node_modules', 'vite', 'bin'), { recursive: true })
  await writeFile(join(project, 'node_modules', 'vite', 'bin', 'vite.js'), VITE)
  for (const [file, name] of [
    ['viewer.mjs', 'buildViewer'],
    ['program.mjs', 'buildProgram'],
  ] as const) {
    const build = `import(${JSON.stringify(pathToFileURL(join(project, 'scripts', file)))}).then((module) => module.${name}(process.execPath))`
    assert.equal((await runProgram(process.execPath, ['-e', build], {})).code, 0)
  }
  await rm(join(project, 'builds'))
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

test('packages for other platforms are not required', async () => {
  await install(INSTALLED.packages)
  assert.equal((await setup()).code, 0)
  assert.deepEqual(await npmCalls(), [])
})

test('of two concurrent runs only one installs, and both succeed', async () => {
  const [one, other] = await Promise.all([setup(), setup()])
  assert.deepEqual([one.code, other.code], [0, 0])
  assert.equal((await npmCalls()).length, 1)
})

test('the lock of a dead process delays nobody', async () => {
  const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await new Promise((resolve) => gone.on('exit', resolve))
  await writeFile(join(project, '.cache', 'setup.lock'), String(gone.pid))
  assert.equal((await setup()).code, 0)
  assert.equal((await npmCalls()).length, 1)
})

test('reports a failure of npm and fails', async () => {
  const { code, stdout, stderr } = await setup({ NPM_FAILS: '1' })
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /^colophon: npm ci failed: see above$/m)
  assert.equal((await setup()).code, 0)
})

test('builds the viewer and the program when their sources have changed, once, and not for their tests', async () => {
  await install(INSTALLED.packages)
  assert.deepEqual(await setup(), { code: 0, stdout: '', stderr: '' })
  await writeFile(join(project, 'web', 'src', 'main.test.ts'), 'x')
  await writeFile(join(project, 'src', 'wire', 'records.test.ts'), 'x')
  assert.deepEqual(await setup(), { code: 0, stdout: '', stderr: '' })
  await writeFile(join(project, 'src', 'wire', 'records.ts'), 'x')
  const both = await Promise.all([setup(), setup()])
  assert.deepEqual(
    both.map(({ code }) => code),
    [0, 0],
  )
  assert.deepEqual(await linesOf('builds'), ['vite.config.ts', 'verify.config.ts', 'program'])
  assert.deepEqual(await setup(), { code: 0, stdout: '', stderr: '' })
})

test('reports the errors of vite about the viewer', async () => {
  await install(INSTALLED.packages)
  await writeFile(join(project, 'web', 'src', 'main.tsx'), 'x')
  const { code, stderr } = await setup({ VITE_FAILS: '1' })
  assert.equal(code, 1)
  assert.match(stderr, /the viewer could not be built: no such import\n/)
})

test('bundles the program again after packages were installed, and keeps those of running programs', async () => {
  await setup()
  assert.deepEqual(await linesOf('builds'), ['program'])
  assert.equal((await readdir(join(project, '.cache', 'program'))).length, 2)
  assert.deepEqual(await setup(), { code: 0, stdout: '', stderr: '' })
})

test('reports the errors of the bundler', async () => {
  await install(INSTALLED.packages)
  await writeFile(join(project, 'src', 'wire', 'records.ts'), 'x')
  const { code, stderr } = await setup({ BUNDLER_FAILS: '1' })
  assert.equal(code, 1)
  assert.match(stderr, /the program could not be built: no such module\n/)
})

test('only tests need a browser, a proxy and shells: nothing else looks for them', async () => {
  await install(INSTALLED.packages)
  await putPrograms('apt-get', 'sudo')
  assert.deepEqual(await setup(noPrograms()), { code: 0, stdout: '', stderr: '' })
  assert.deepEqual(await linesOf('installs'), [])
})

test('for tests, prints nothing if a browser and nginx exist, wherever they are', async () => {
  await install(INSTALLED.packages)
  await putPrograms('google-chrome')
  await mkdir(join(project, 'sbin'))
  await putProgram(join(project, 'sbin', 'nginx'))
  const found = { code: 0, stdout: '', stderr: '' }
  assert.deepEqual(await setup(noPrograms(), '--for-tests'), found)
  const named = {
    ...OTHER_PROGRAMS,
    COLOPHON_CHROMIUM: process.execPath,
    COLOPHON_NGINX: process.execPath,
    PATH: project,
  }
  assert.deepEqual(await setup(named, '--for-tests'), found)
})

test('for tests, installs exactly the missing programs', async () => {
  await install(INSTALLED.packages)
  await putPrograms('chromium', 'apt-get', 'sudo', 'sh')
  await putInstaller('installs_nginx')
  const { code, stdout, stderr } = await setup(noPrograms(), '--for-tests')
  assert.deepEqual([code, stdout], [0, ''])
  assert.equal(stderr, 'colophon: installing nginx-light for the tests (apt-get)\n')
  assert.deepEqual(await linesOf('installs'), ['nginx-light'])
  assert.deepEqual(await setup(noPrograms(), '--for-tests'), { code: 0, stdout: '', stderr: '' })
  assert.deepEqual(await linesOf('installs'), ['nginx-light'])
})

test('of two concurrent runs for tests only one installs, dependencies and programs alike', async () => {
  await putPrograms('chromium', 'apt-get', 'sudo', 'sh')
  await putInstaller('installs_nginx')
  const both = await Promise.all([setup(noPrograms(), '--for-tests'), setup(noPrograms(), '--for-tests')])
  assert.deepEqual(
    both.map(({ code }) => code),
    [0, 0],
  )
  assert.equal((await npmCalls()).length, 1)
  assert.deepEqual(await linesOf('installs'), ['nginx-light'])
})

test('without the programs, tests are skipped with a line that says so; in CI that is a failure', async () => {
  await install(INSTALLED.packages)
  await putPrograms('apt-get', 'sudo', 'sh')
  await putInstaller('fails')
  const remedy = 'install Chromium and nginx, or set COLOPHON_CHROMIUM and COLOPHON_NGINX'
  const reason = 'apt-get failed: E: Unable to locate package'
  const here = await setup(noPrograms(), '--for-tests')
  assert.equal(here.code, 0)
  const told = `colophon: tests that need Chromium and nginx are skipped, since ${reason}; ${remedy}\n`
  assert.ok(here.stderr.endsWith(told), here.stderr)
  const inCi = await setup({ ...noPrograms(), CI: 'true' }, '--for-tests')
  assert.equal(inCi.code, 1)
  const failed = `colophon: the tests need Chromium and nginx, and ${reason}; ${remedy}\n`
  assert.ok(inCi.stderr.endsWith(failed), inCi.stderr)
})

test('reports the reason if nothing can be installed', async () => {
  await install(INSTALLED.packages)
  await putPrograms('chromium')
  const { code, stderr } = await setup(noPrograms(), '--for-tests')
  assert.equal(code, 0)
  assert.match(stderr, /^colophon: tests that need nginx are skipped, since there is no apt-get here .*\n$/)
  const named = {
    ...noPrograms(),
    COLOPHON_CHROMIUM: join(project, 'nowhere'),
    COLOPHON_NGINX: process.execPath,
  }
  const misnamed = await setup(named, '--for-tests')
  assert.match(
    misnamed.stderr,
    /^colophon: tests that need Chromium are skipped, since COLOPHON_CHROMIUM names no/,
  )
})

test(
  'services that come with packages are neither started nor enabled',
  { skip: process.platform === 'win32' },
  async () => {
    await mkdir(join(project, 'usr', 'sbin'), { recursive: true })
    await mkdir(join(project, 'run', 'systemd', 'system'), { recursive: true })
    const policy = join(project, 'usr', 'sbin', 'policy-rc.d')
    for (const name of ['apt-get', 'systemctl']) {
      const policed = `if ${policy} nginx start; then echo may start; else echo "status $?"; fi`
      await putProgram(
        join(project, 'bin', name),
        `{ echo ${name} "$@"; ${policed}; } >> ${project}/calls; test "$*" != "\${*%package-that-fails}" && exit 1; exit 0`,
      )
    }
    const env = { PATH: `${join(project, 'bin')}:/usr/bin:/bin`, DPKG_ROOT: project }
    const script = join(import.meta.dirname, 'install-debian-packages.sh')
    const run = (...packages: string[]): Promise<Ended> => runProgram('/bin/sh', [script, ...packages], env)
    assert.deepEqual(await run('chromium', 'nginx-light'), { code: 0, stdout: '', stderr: '' })
    const calls = await linesOf('calls')
    const options = '-qq -o DPkg::Lock::Timeout=300'
    assert.deepEqual(calls, [
      `apt-get ${options} update`,
      'status 101',
      `apt-get ${options} -y --no-install-recommends install chromium`,
      'status 101',
      `apt-get ${options} -y --no-install-recommends install nginx-light`,
      'status 101',
      'systemctl --quiet disable nginx',
      'status 101',
    ])
    await assert.rejects(access(policy), 'the policy is gone')
    // One that fails does not keep the next from being installed.
    assert.equal((await run('package-that-fails', 'nginx-light')).code, 1)
    assert.ok((await linesOf('calls')).at(-4)?.endsWith('install nginx-light'))
    // The policy of a machine that has one stays as it is.
    await putProgram(policy, 'exit 104')
    assert.equal((await run('chromium')).code, 0)
    assert.deepEqual((await linesOf('calls')).at(-1), 'status 104')
    await access(policy)
  },
)

/** An environment in which there are just the programs of the project's own `bin`. */
function noPrograms(): NodeJS.ProcessEnv {
  return {
    ...OTHER_PROGRAMS,
    PATH: join(project, 'bin'),
    CI: '',
    COLOPHON_CHROMIUM: '',
    COLOPHON_NGINX: '',
  }
}

/** Puts programs into the project's `bin` that do nothing, but for `sudo` and `sh`. */
async function putPrograms(...names: readonly string[]): Promise<void> {
  await mkdir(join(project, 'bin'), { recursive: true })
  for (const name of names) {
    const path = join(project, 'bin', name)
    if (name === 'sh') await symlink('/bin/sh', path)
    else await putProgram(path, name === 'sudo' ? 'test "$2" = true && exit 0; shift; exec "$@"' : 'exit 0')
  }
}

async function putProgram(path: string, script = 'exit 0'): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

/** Stands in for the script that calls apt-get: writes down the packages, and installs nginx or fails. */
async function putInstaller(what: 'installs_nginx' | 'fails'): Promise<void> {
  const nginx = join(project, 'bin', 'nginx')
  const outcome =
    what === 'fails'
      ? 'echo "E: Unable to locate package" >&2; exit 100'
      : `printf '#!/bin/sh\\n' > ${nginx}; /bin/chmod 755 ${nginx}`
  await putProgram(
    join(project, 'scripts', 'install-debian-packages.sh'),
    `echo "$@" >> ${join(project, 'installs')}; ${outcome}`,
  )
}

async function install(packages: object): Promise<void> {
  await mkdir(join(project, 'node_modules'), { recursive: true })
  const file = join(project, 'node_modules', '.package-lock.json')
  await writeFile(file, JSON.stringify({ packages }))
  await utimes(file, 0, 0) // before the program was built
}

function npmCalls(): Promise<string[]> {
  return linesOf('npm-calls')
}

/** The lines of a file that stand-ins write; none if it is not there. */
async function linesOf(name: string): Promise<string[]> {
  const text = await readFile(join(project, name), 'utf8').catch(() => '')
  return text.split('\n').slice(0, -1)
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function setup(env: NodeJS.ProcessEnv = {}, ...args: readonly string[]): Promise<Ended> {
  return runProgram(process.execPath, [join(project, 'scripts', 'setup.mjs'), ...args], {
    ...process.env,
    npm_execpath: join(project, 'npm-cli.js'),
    npm_node_execpath: process.execPath,
    ...env,
  })
}

async function runProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn(program, args, { env })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, stdout, stderr }
}
