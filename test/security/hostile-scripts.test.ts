import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { getRecord } from '../../src/sheet/queries/get-record.ts'
import { startMaterialize } from '../../src/sheet/runs/materialize.ts'
import { cancelRun } from '../../src/sheet/runs/cancel-run.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { contractText } from '../support/contract-with.ts'
import { onEnd } from '../support/on-end.ts'
import { confinements, scriptsOf, unconfinable } from '../support/script-hosts.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const SECRET_NAME = 'COLOPHON_TEST_HOSTILE_KEY'

const TIMEOUT = /timeout after 1 s/

const REQUEST = { targets: null, recordIds: null, force: false, actor: 'human:ann' }

/** Scripts of strangers, and the error of their cells. Each is JavaScript, with the port of a local server in `port`. */
const ATTACKS: Readonly<Record<string, { readonly body: string; readonly error: RegExp }>> = {
  link: {
    body: `console.log(fs.readFileSync(sheet + '/refs/users', 'utf8'))`,
    error: /exit status 1: [^]*ENOENT/,
  },
  passwords: {
    body: `console.log(fs.readFileSync('/etc/passwd', 'utf8'))`,
    error: /exit status 1: [^]*ENOENT/,
  },
  hidden: {
    body: `console.log(fs.readFileSync(sheet + '/.env', 'utf8'))`,
    error: /exit status 1: [^]*ENOENT/,
  },
  store: {
    body: `console.log(fs.readFileSync(sheet + '/sheet.db', 'utf8'))`,
    error: /exit status 1: [^]*ENOENT/,
  },
  write: { body: `fs.writeFileSync(sheet + '/refs/new', '')`, error: /exit status 1: [^]*EROFS/ },
  socket: {
    body: `net.connect(port, '127.0.0.1').on('connect', () => console.log('connected'))`,
    error: /exit status 1: [^]*(?:ENETUNREACH|ECONNREFUSED)/,
  },
  fork: {
    body: `for (;;) spawnSync('sh', ['-c', 'f() { f | f & }; f 2>/dev/null'])`,
    error: TIMEOUT,
  },
  loop: { body: 'for (;;) {}', error: TIMEOUT },
  child: { body: `spawnSync('sh', ['-c', 'trap "" TERM; setsid sleep 1000'])`, error: TIMEOUT },
  memory: {
    body: `const all = []; for (let n = 0; n < 64; n++) all.push(Buffer.alloc(64 * 1024 ** 2, n))`,
    error: /exit status (?:1|13[0-9])/,
  },
  output: {
    body: `const piece = Buffer.alloc(2 ** 20, 'x'); for (let n = 0; n < 1024; n++) fs.writeSync(1, piece)`,
    error: /standard output is larger than 10 MiB/,
  },
  errors: {
    body: `const piece = Buffer.alloc(2 ** 20, 'x'); for (let n = 0; n < 1024; n++) fs.writeSync(2, piece)`,
    error: /standard error is larger than 10 MiB/,
  },
  secret: {
    body: `console.log('the key is ' + process.env.${SECRET_NAME})`,
    error: /repeats a secret of env/,
  },
}

const JS = `
import fs from 'node:fs'
import net from 'node:net'
import { spawnSync } from 'node:child_process'
const [sheet, inputs] = process.argv.slice(2)
const { port } = JSON.parse(inputs)
`

test(
  'each script of a stranger fails its cell within its deadline, and the sheet can be read meanwhile',
  { skip: unconfinable },
  async (t) => {
    process.env[SECRET_NAME] = 'k3y-0f-the-stranger'
    onEnd(t, () => delete process.env[SECRET_NAME])
    const server = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onEnd(t, () => server.close())
    const names = Object.keys(ATTACKS)
    const directory = await writeSheet(t, {
      contract: contractText([
        '{name: port, logicalType: integer}',
        ...names.map((name) => `{name: ${name}, logicalType: string}`),
      ]),
      records: [{ id: '1', port: (server.address() as AddressInfo).port }],
      derivations: Object.fromEntries(
        Object.entries(ATTACKS).map(([name, { error }]) => {
          // The others must end by themselves, on a slow machine as well.
          const timeout = error === TIMEOUT ? 1 : 60
          const file = {
            targets: [name],
            inputs: ['port'],
            kind: 'script',
            script: name,
            timeout,
            env: [SECRET_NAME],
          }
          return [`${name}.yaml`, JSON.stringify(file)]
        }),
      ),
    })
    await mkdir(join(directory, 'scripts'))
    await mkdir(join(directory, 'refs'))
    await symlink('/etc/passwd', join(directory, 'refs', 'users'))
    await writeFile(join(directory, '.env'), 'KEY=1')
    for (const [name, { body }] of Object.entries(ATTACKS)) {
      await writeFile(join(directory, 'scripts', `${name}.mjs`), `${JS}${body}\n`)
    }
    const sheet = await openSheet(directory, { scripts: 'confined' })
    onEnd(t, () => sheet.close())
    const run = await startMaterialize(sheet, REQUEST)
    let isDone = false
    const done = run.done.finally(() => (isDone = true))
    while (!isDone) {
      assert.match(String((await getRecord(sheet, '1', null)).json), /"id":"1"/)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const { failures } = await done
    const errors = new Map(failures.map(({ field, error }) => [field, error]))
    for (const [name, { error }] of Object.entries(ATTACKS))
      assert.match(errors.get(name) ?? 'none', error, name)
    assert.deepEqual(await readdir(join(directory, 'refs')), ['users'])
  },
)

/** Reports what a script can see and do. */
const PROBE = `
import fs from 'node:fs'
import os from 'node:os'
import { spawnSync } from 'node:child_process'
const can = (act) => { try { act(); return true } catch { return false } }
const status = fs.readFileSync('/proc/self/status', 'utf8')
console.log(JSON.stringify({
  root: fs.readdirSync('/').filter((name) => !/^(?:s?bin|lib\\w*|usr|nix|gnu)$/.test(name)).sort(),
  etc: fs.readdirSync('/etc').filter((name) => !['alternatives', 'ld.so.cache'].includes(name)),
  sheet: fs.readdirSync(process.argv[2]).sort(),
  variables: Object.keys(process.env).filter((name) => !['PATH', 'HOME', 'TMPDIR', 'LANG', 'PWD', 'SHLVL', '_'].includes(name)),
  interfaces: Object.values(os.networkInterfaces()).flat().filter(({ internal }) => !internal).length,
  processes: fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length < 10,
  privileges: [/CapEff:\\s+(\\w+)/, /CapBnd:\\s+(\\w+)/, /NoNewPrivs:\\s+(\\w+)/].map((at) => Number(at.exec(status)[1])),
  limit: Number(/Max processes\\s+(\\d+)/.exec(fs.readFileSync('/proc/self/limits', 'utf8'))?.[1]),
  namespaces: spawnSync('unshare', ['--user', 'true']).status === 0,
  writes: ['/', '/usr', '/etc', '/run', '/run/colophon', '/sheet', '/dev', '/proc/sys/kernel/hostname'].filter((path) => can(() => fs.writeFileSync(path.endsWith('hostname') ? path : path + '/new', 'x'))),
  temporary: can(() => fs.writeFileSync('/tmp/new', 'x')),
  large: can(() => { for (let n = 0; n < 3; n++) fs.writeFileSync('/tmp/large' + n, Buffer.alloc(40 * 1024 ** 2)) }),
}))
`

for (const { confinement, skip } of confinements) {
  test(
    `${confinement}: a script sees the system, the sheet, and nothing else of the machine`,
    { skip },
    async (t) => {
      const directory = await mkdtemp(join(tmpdir(), 'colophon-probe-'))
      onEnd(t, () => rm(directory, { recursive: true }))
      for (const name of ['contract.yaml', 'sheet.db', '.env']) await writeFile(join(directory, name), '')
      await symlink('/etc/passwd', join(directory, 'users'))
      const host = scriptsOf(t, confinement, directory)
      const output: Buffer[] = []
      const script = { path: 'scripts/probe.mjs', bytes: Buffer.from(PROBE), sha256: 'probe' }
      const started = await host.start({
        script,
        args: ['{}'],
        env: { LISTED: '1' },
        cpuSeconds: 60,
        onOutput: (chunk) => output.push(chunk),
      })
      assert.ok(started.ok)
      started.value.closeInput()
      const { status, stderr } = await started.value.ended
      assert.equal(status, 0, stderr)
      assert.deepEqual(JSON.parse(String(Buffer.concat(output))), {
        root: ['dev', 'etc', 'proc', 'run', 'sheet', 'tmp'],
        etc: [],
        sheet: ['contract.yaml'],
        variables: ['LISTED'],
        interfaces: 0,
        processes: true,
        privileges: [0, 0, 1],
        limit: 64,
        namespaces: false,
        writes: [],
        temporary: true,
        large: false,
      })
    },
  )
}

/** The command of the child; it has a process of its own session. */
const CHILD = 'sleep 1000; :'

/** A sheet whose only script does not end, and has a child that does not either; `mark` is in the arguments of both. */
async function sheetWithoutEnd(t: TestContext): Promise<{ directory: string; mark: string }> {
  const mark = `mark-${process.pid}-${Date.now()}`
  const directory = await writeSheet(t, {
    contract: contractText(['{name: a, logicalType: string}', '{name: b, logicalType: string}']),
    records: [{ id: '1', a: mark }],
    derivations: { 'b.yaml': '{targets: [b], inputs: [a], kind: script, script: wait}' },
  })
  await mkdir(join(directory, 'scripts'))
  await writeFile(join(directory, 'scripts', 'wait.sh'), `setsid sh -c "${CHILD}" "$2" &\nsleep 1000\n`)
  return { directory, mark }
}

test('a stopped run kills the processes of its scripts', { skip: unconfinable }, async (t) => {
  const { directory, mark } = await sheetWithoutEnd(t)
  const sheet = await openSheet(directory, { scripts: 'confined' })
  onEnd(t, () => sheet.close())
  const run = await startMaterialize(sheet, REQUEST)
  await until(async () => (await processesWith(mark, CHILD)) > 0)
  await cancelRun(sheet, run.id, 'human:ann')
  await run.done.catch(() => undefined)
  await until(async () => (await processesWith(mark)) === 0)
})

test('a killed server leaves no process of a script', { skip: unconfinable }, async (t) => {
  const { directory, mark } = await sheetWithoutEnd(t)
  const server = new ColophonProcess(t, ['materialize', directory, '--actor', 'human:ann', '--allow-scripts'])
  await until(async () => (await processesWith(mark, CHILD)) > 0)
  server.kill('SIGKILL')
  await until(async () => (await processesWith(mark)) === 0)
})

/** Waits until a condition holds; the test's own deadline ends it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Counts the processes of this machine that have all texts in their arguments. */
async function processesWith(...texts: readonly string[]): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => texts.every((text) => line.includes(text))).length
}
