/*
 * Runs the checks of `npm run check`, two at a time, since most of them use one processor. Prints the output of each when
 * it has ended, and last the names of those that failed.
 */
import { spawn } from 'child_process'
import { ROOT } from './node24.mjs'

/** Scripts of package.json, the longest first. */
const CHECKS = ['format:check', 'lint', 'typecheck', 'deadcode', 'sources']
const AT_A_TIME = 2

/** @type {string[]} */
const failed = []
const waiting = [...CHECKS]

/** Runs the checks that wait, one after the other. */
async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const { code, output } = await run(name)
    if (code !== 0) failed.push(name)
    console.log(`${code === 0 ? '✔' : '✖'} ${name}\n${output.trim()}\n`)
  }
}

/**
 * @param {string} name
 * @returns {Promise<{ code: number | null, output: string }>} the exit code, and what the check printed
 */
function run(name) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', name], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => (output += chunk))
    }
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}

await Promise.all(Array.from({ length: AT_A_TIME }, work))
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}`)
  process.exitCode = 1
}
