/*
 * What stands between a person, or a service manager, and a program on another Node.js: starts it, passes signals on, and
 * ends as it ends. Plain JavaScript for any Node.js from 14 on, since its very purpose is to cope with an older one.
 *
 * A signal reaches a program on several ways. One to the whole process group, as from a terminal, systemd or `kill -- -PGID`,
 * arrives at the program itself and at each launcher above it, and each passes it on. So launchers pass signals on as messages
 * that name their way, and the program emits them as its own with the way as a third argument: it can count a signal once
 * however slowly the launchers pass it on. The end of the channel tells the program at once that its launcher is gone.
 */
import { spawn } from 'child_process'
import { readFileSync } from 'fs'
import { constants } from 'os'

/** @typedef {'SIGINT' | 'SIGTERM' | 'SIGHUP'} Signal */

/** @type {readonly Signal[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** In the environment of a program whose channel is to its launcher, since others start programs with a channel, too. */
const LAUNCHED = 'COLOPHON_LAUNCHED'

/** What npm runs in the foreground, in npm_lifecycle_event: ends with npm. Other scripts may mean to leave something behind. */
const NPM_FOREGROUND = ['npx', 'start', 'test', 'campaign']

const NPM_INTERVAL_MS = 200

/**
 * Starts a program of ours on a Node.js, with a channel; it has to call {@link followLauncher}.
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
  passSignalsTo(child)
  return child
}

/**
 * Passes SIGINT, SIGTERM and SIGHUP on to a child, which decides when to end. To one without a channel, Ctrl-C is not
 * passed on, which it gets from the terminal itself and would take for impatience.
 *
 * @param {import('child_process').ChildProcess} child
 */
export function passSignalsTo(child) {
  followLauncher()
  for (const signal of SIGNALS) {
    /** @type {(name: string, number: number, way?: string) => void} */
    const passOn = (_name, _number, way = 'itself') => {
      // Where the child has gone meanwhile, nobody is left to tell.
      if (child.connected) child.send({ signal, way: `launcher < ${way}` }, () => undefined)
      else if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    process.on(signal, passOn)
  }
}

/**
 * Ends this process as a child ended: with its exit code, or of its signal.
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
 * Has this process get the signals that its launcher passes on, and a SIGTERM when its launcher, or the npm that runs it in
 * the foreground, is gone.
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
  process.on('message', (/** @type {{ signal: Signal, way: string }} */ { signal, way }) =>
    raise(signal, way),
  )
  process.on('disconnect', () => raise('SIGTERM', 'launcher gone'))
  // A program ends when it has nothing left to do, whatever its launcher may still say.
  channel.unref()
}

/**
 * Neither npm nor the shell that it runs scripts in says when it is gone, and the shell dies of the signals that npm sends
 * it without passing them on. So their numbers are looked at.
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

/** The parent, and where that is a shell and the system tells, whoever runs the shell. */
function ancestors() {
  const { pid, ppid } = process
  if (process.platform === 'win32') return isAlive(ppid) ? `${pid} < ${ppid}` : `${pid}`
  const parent = describe(ppid)
  const further = parent && /^(ba|da|a|z|k|)sh$/.test(parent.name) ? ` < ${parent.ppid}` : ''
  return `${pid} < ${ppid}${further}`
}

/**
 * What Linux says of a process; null where it says nothing.
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
 * @param {string} way
 */
function raise(signal, way) {
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  // As Node emits its own, and the way.
  else Reflect.apply(process.emit, process, [signal, signal, constants.signals[signal], way])
}
