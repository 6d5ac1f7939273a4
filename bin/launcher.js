/*
 * Launches a program on another Node.js, forwards signals, and ends as the program ends. Plain JavaScript for Node.js 14
 * and later, since it also runs on versions that cannot run the program.
 *
 * A signal reaches a program on several paths. One to the whole process group, as from a terminal, systemd or
 * `kill -- -PGID`, arrives at the program and at each launcher above it, and each forwards it. Launchers therefore forward
 * signals as messages that name their path, and the program emits them as its own with the path as a third argument, so that
 * it counts a signal once, however late a launcher forwards it. The channel closes when the launcher is gone.
 */
import { spawn } from 'child_process'
import { readFileSync } from 'fs'
import { constants } from 'os'

/** @typedef {'SIGINT' | 'SIGTERM' | 'SIGHUP'} Signal */

/** @type {readonly Signal[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** The environment variable of a program whose channel is to its launcher, since other parents open channels too. */
const LAUNCHED = 'COLOPHON_LAUNCHED'

/**
 * The values of npm_lifecycle_event that npm runs in the foreground, and that end with npm. Other scripts may leave
 * processes running.
 */
const NPM_FOREGROUND = ['npx', 'start', 'test', 'campaign']

const NPM_INTERVAL_MS = 200

/**
 * Starts a program on a Node.js, with a channel; the program has to call {@link followLauncher}.
 *
 * @param {string} node
 * @param {readonly string[]} args
 * @param {{ stdout?: 'inherit' | 'pipe' }} [options]
 */
export function launch(node, args, { stdout = 'inherit' } = {}) {
  const child = spawn(node, args, {
    stdio: ['inherit', stdout, 'inherit', 'ipc'],
    env: { ...process.env, [LAUNCHED]: '1' },
  })
  forwardSignalsTo(child)
  return child
}

/**
 * Forwards SIGINT, SIGTERM and SIGHUP to a child, which decides when to end. Ctrl-C is not forwarded to a child without a
 * channel, which receives it from the terminal and would count it twice.
 *
 * @param {import('child_process').ChildProcess} child
 */
export function forwardSignalsTo(child) {
  followLauncher()
  for (const signal of SIGNALS) {
    /** @type {(name: string, number: number, path?: string) => void} */
    const forward = (_name, _number, path = 'itself') => {
      // A failure to send is ignored, since the child has ended.
      if (child.connected) child.send({ signal, path: `launcher < ${path}` }, () => undefined)
      else if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    process.on(signal, forward)
  }
}

/**
 * Ends this process as a child ended: with its exit code, or by its signal.
 *
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
export function endAs(code, signal) {
  if (signal === null) {
    process.exitCode = code === null ? 1 : code
    return
  }
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}

let isFollowing = false

/**
 * Emits the signals that the launcher forwards, and SIGTERM when the launcher, or the npm that runs this process in the
 * foreground, is gone.
 */
export function followLauncher() {
  if (isFollowing) return
  isFollowing = true
  const launched = process.env[LAUNCHED] !== undefined
  delete process.env[LAUNCHED]
  if (launched && process.channel) followChannel(process.channel)
  else if (NPM_FOREGROUND.includes(process.env.npm_lifecycle_event || '')) followNpm()
}

/** @param {NonNullable<typeof process.channel>} channel */
function followChannel(channel) {
  process.on('message', (/** @type {{ signal: Signal, path: string }} */ { signal, path }) =>
    raise(signal, path),
  )
  process.on('disconnect', () => raise('SIGTERM', 'launcher gone'))
  // The channel does not keep the program running.
  channel.unref()
}

/**
 * Polls the process ids of npm and its shell: neither reports its end, and the shell does not forward the signals of
 * npm.
 */
function followNpm() {
  const before = ancestors()
  const watch = setInterval(() => {
    if (ancestors() === before) return
    clearInterval(watch)
    raise('SIGTERM', 'npm gone')
  }, NPM_INTERVAL_MS)
  watch.unref()
}

/** Identifies the parent process, and its parent when it is a shell, where the system provides that. */
function ancestors() {
  const { pid, ppid } = process
  if (process.platform === 'win32') return isAlive(ppid) ? `${pid} < ${ppid}` : `${pid}`
  const parent = describe(ppid)
  const further = parent && /^(ba|da|a|z|k|)sh$/.test(parent.name) ? ` < ${parent.ppid}` : ''
  return `${pid} < ${ppid}${further}`
}

/**
 * Reads the name and the parent of a process on Linux; null elsewhere.
 *
 * @param {number} pid
 */
function describe(pid) {
  try {
    const [, name = '', ppid = ''] =
      /^\d+ \((.*)\) \S+ (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) || []
    return { name, ppid }
  } catch {
    return null
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/**
 * @param {Signal} signal
 * @param {string} path
 */
function raise(signal, path) {
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  // With the arguments of Node.js, and the path.
  else Reflect.apply(process.emit, process, [signal, signal, constants.signals[signal], path])
}
