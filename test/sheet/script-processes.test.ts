import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { ScriptProcess } from '../../src/derivation/kinds/script/script-host.ts'
import type { LocalScripts } from '../../src/sheet/scripts/script-processes.ts'
import { onEnd } from '../support/on-end.ts'
import { confinements, scriptsOf } from '../support/script-hosts.ts'

const skip = process.platform === 'linux' ? false : 'processes are read from /proc'

/** Starts a shell script; `lines` returns what it has written. */
async function startShell(
  host: LocalScripts,
  text: string,
): Promise<{ running: ScriptProcess; lines(count: number): Promise<readonly string[]> }> {
  let output = ''
  const script = { path: 'scripts/a.sh', bytes: Buffer.from(text), sha256: 'a' }
  const started = await host.start({
    script,
    args: [],
    env: {},
    cpuSeconds: 60,
    onOutput: (chunk) => void (output += chunk),
  })
  assert.ok(started.ok)
  const lines = async (count: number): Promise<readonly string[]> => {
    await until(() => output.split('\n').length > count)
    return output.split('\n')
  }
  return { running: started.value, lines }
}

/** Waits until a condition holds; the test's own deadline ends it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** Whether a process runs; one that has ended and whose parent has not asked for its status does not. */
function runs(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Kills a process when the test ends. */
function killAfter(t: TestContext, pid: string): void {
  onEnd(t, () => {
    if (runs(pid)) process.kill(Number(pid), 'SIGKILL')
  })
}

test('unconfined: a child in the background ends with its script', { skip }, async (t) => {
  const script = 'sleep 1000 >/dev/null 2>&1 </dev/null &\necho $!\n'
  const { running, lines } = await startShell(scriptsOf(t, 'unconfined'), script)
  const [pid = ''] = await lines(1)
  killAfter(t, pid)
  assert.equal((await running.ended).status, 0)
  await until(() => !runs(pid))
})

test(
  'unconfined: a child that left the group and holds the output delays the end no longer than the deadline',
  { skip },
  async (t) => {
    const host = scriptsOf(t, 'unconfined')
    const script = `echo $$\nsetsid sh -c 'echo $$; exec sleep 1000' &\nread line\n`
    const { running, lines } = await startShell(host, script)
    const [own = '', child = ''] = await lines(2)
    killAfter(t, child)
    running.write('end\n')
    // Node.js has asked for its status.
    await until(() => !existsSync(`/proc/${own}`))
    running.kill()
    assert.equal((await running.ended).status, 0)
  },
)

test('a folder of scripts that was removed is made anew under another name', { skip }, async (t) => {
  const host = scriptsOf(t, 'unconfined')
  const paths: string[] = []
  for (const name of ['first', 'second']) {
    const { running, lines } = await startShell(host, 'echo "$0"\n')
    const [path = ''] = await lines(1)
    await running.ended
    const folder = dirname(dirname(path))
    paths.push(folder)
    if (name === 'second') break
    renameSync(folder, `${folder}-moved`)
    onEnd(t, () => rmSync(`${folder}-moved`, { recursive: true }))
  }
  assert.notEqual(paths[0], paths[1])
})

test('the exit status of a script that a signal has ended says which', { skip }, async (t) => {
  const { running } = await startShell(scriptsOf(t, 'unconfined'), 'kill -TERM $$\n')
  assert.equal((await running.ended).status, 128 + 15)
})

test('without a free file descriptor a script fails, and nothing else', { skip }, async (t) => {
  const host = scriptsOf(t, 'unconfined')
  const first = await startShell(host, ':')
  await first.running.ended
  const limit = /Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? ''
  const limitTo = (count: string): unknown =>
    execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${count}:`])
  limitTo('200')
  const open: number[] = []
  const refused = await (async () => {
    try {
      for (;;) open.push(openSync('/dev/null', 'r'))
    } catch {
      const script = { path: 'scripts/a.sh', bytes: Buffer.from(':'), sha256: 'a' }
      return await host.start({ script, args: [], env: {}, cpuSeconds: 60, onOutput: () => undefined })
    } finally {
      for (const each of open) closeSync(each)
      limitTo(limit)
    }
  })()
  assert.ok(!refused.ok)
  assert.match(refused.error, /cannot be started \(EMFILE\)$/)
})

for (const { confinement, skip: reason } of confinements) {
  test(`${confinement}: a script runs under a strict umask`, { skip: reason }, async (t) => {
    const umask = process.umask(0o077)
    onEnd(t, () => process.umask(umask))
    const { running } = await startShell(scriptsOf(t, confinement), 'cat "$0"')
    const { status, stderr } = await running.ended
    assert.deepEqual([status, stderr], [0, ''])
  })
}
