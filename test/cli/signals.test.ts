import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { onEnd } from '../support/on-end.ts'
import { RawClient } from '../support/raw-client.ts'
import { BIN } from '../support/run-colophon.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** A launcher as under an older Node, and one more above it. */
const LAUNCHED = [join(ROOT, 'test', 'support', 'launch.ts')]
const LAUNCHED_TWICE = [...LAUNCHED, ...LAUNCHED]

const skip = process.platform === 'win32' ? 'there are no process groups' : false

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly log: string
}

/** A command in a process group of its own, killed as a whole when the test ends. */
class Group {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #closed: Promise<unknown[]>
  #stdout = ''
  #log = ''

  constructor(t: TestContext, command: string, args: readonly string[], cwd = ROOT) {
    const { npm_lifecycle_event: _ours, ...env } = process.env
    this.#child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child.stdout.on('data', (chunk) => (this.#stdout += String(chunk)))
    this.#child.stderr.on('data', (chunk) => (this.#log += String(chunk)))
    // Ends when all processes with its output have ended, including the server.
    this.#closed = once(this.#child, 'close')
    onEnd(t, () => {
      try {
        this.signal('SIGKILL')
      } catch {
        // There is none of them any more, as is to be.
      }
    })
  }

  /** The port of the server, once it listens. */
  async port(): Promise<number> {
    for (;;) {
      const port = /^Colophon serves \S+ at http:\/\/\S+:(\d+)\n/m.exec(this.#stdout)?.[1]
      if (port !== undefined) return Number(port)
      await Promise.race([
        once(this.#child.stdout, 'data'),
        this.#closed.then(() => assert.fail(`ended without serving: ${this.#log}`)),
      ])
    }
  }

  /** Sends a signal to each process of the group. */
  signal(signal: NodeJS.Signals): void {
    process.kill(-(this.#child.pid ?? 0), signal)
  }

  /** Sends a signal to the first process alone. */
  signalFirst(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async end(): Promise<Ended> {
    const [code, signal] = await this.#closed
    return { code: code as Ended['code'], signal: signal as Ended['signal'], log: this.#log }
  }
}

async function openStream(t: TestContext, port: number): Promise<RawClient> {
  const stream = await RawClient.open(t, port)
  stream.send('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await stream.waitFor((text) => text.includes(': connected'))
  return stream
}

/** The log has one line of a stop, and none of anything wrong. */
function assertStoppedOnce(log: string, by: NodeJS.Signals): void {
  const lines = log
    .trim()
    .split('\n')
    // npm has words of its own.
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string; signal?: string })
  assert.deepEqual(
    lines
      .filter(({ level, msg }) => level > 30 || msg === 'stopping')
      .map(({ msg, signal }) => [msg, signal]),
    [['stopping', by]],
  )
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(
    `${signal} to the process group of a server and its launchers is one clean stop with 0`,
    { skip },
    async (t) => {
      const sheet = await writeSheet(t)
      const group = new Group(t, process.execPath, [...LAUNCHED_TWICE, BIN, 'serve', sheet, '--port', '0'])
      const stream = await openStream(t, await group.port())
      group.signal(signal)
      const { code, signal: by, log } = await group.end()
      assert.deepEqual([code, by], [0, null], log)
      assertStoppedOnce(log, signal)
      // Ended as chunked bodies end, not cut off.
      assert.match(await stream.end(), /\r\n0\r\n\r\n$/)
    },
  )
}

test(
  'a signal to the launcher alone is forwarded, and its exit code is that of the server',
  { skip },
  async (t) => {
    const sheet = await writeSheet(t)
    const group = new Group(t, process.execPath, [...LAUNCHED_TWICE, BIN, 'serve', sheet, '--port', '0'])
    await group.port()
    group.signalFirst('SIGINT')
    const { code, log } = await group.end()
    assert.equal(code, 0, log)
    assertStoppedOnce(log, 'SIGINT')
  },
)

test(
  'a command without a signal handler ends by the signal, and its launcher does as well',
  { skip },
  async (t) => {
    const waits = join(await temporaryFolder(t), 'waits.mjs')
    await writeFile(
      waits,
      `import { followLauncher } from ${JSON.stringify(pathToFileURL(join(ROOT, 'bin', 'launcher.js')).href)}
    followLauncher()
    setInterval(() => undefined, 1000)
    console.log('Colophon serves nothing at http://nowhere:1')`,
    )
    const group = new Group(t, process.execPath, [...LAUNCHED_TWICE, waits])
    await group.port()
    group.signalFirst('SIGHUP')
    assert.deepEqual(await group.end(), { code: null, signal: 'SIGHUP', log: '' })
  },
)

test('a killed launcher leaves no server behind', { skip }, async (t) => {
  for (const launchers of [LAUNCHED, LAUNCHED_TWICE]) {
    const sheet = await writeSheet(t)
    const group = new Group(t, process.execPath, [...launchers, BIN, 'serve', sheet, '--port', '0'])
    const stream = await openStream(t, await group.port())
    group.signalFirst('SIGKILL')
    const { signal, log } = await group.end()
    assert.equal(signal, 'SIGKILL')
    assertStoppedOnce(log, 'SIGTERM')
    assert.match(await stream.end(), /\r\n0\r\n\r\n$/)
  }
})

for (const [name, args] of Object.entries({
  'npx colophon serve': ['exec', '--offline', 'colophon', 'serve', 'sheet', '--', '--port', '0'],
  'npm start': ['start', '--', '--port', '0'],
})) {
  const onLinux = process.platform === 'linux' ? false : 'only Linux tells who runs a shell'

  test(
    `${name} stops cleanly with its process group, and leaves no server behind when npm is killed`,
    { skip: onLinux },
    async (t) => {
      const folder = await temporaryFolder(t)
      await mkdir(join(folder, 'node_modules', '.bin'), { recursive: true })
      await symlink(BIN, join(folder, 'node_modules', '.bin', 'colophon'))
      await writeFile(
        join(folder, 'package.json'),
        '{"name":"own","scripts":{"start":"colophon serve sheet"}}',
      )
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        await symlink(await writeSheet(t), join(folder, 'sheet'))
        const group = new Group(t, 'npm', args, folder)
        await group.port()
        if (signal === 'SIGTERM') group.signal('SIGTERM')
        else group.signalFirst('SIGKILL')
        assertStoppedOnce((await group.end()).log, 'SIGTERM')
        await rm(join(folder, 'sheet'))
      }
    },
  )
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'colophon-signals-'))
  onEnd(t, () => rm(folder, { recursive: true }))
  return folder
}
