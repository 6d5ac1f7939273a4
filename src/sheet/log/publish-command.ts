import { spawn } from 'node:child_process'
import { OperationError } from '../../errors/service-error.ts'

/** The time after which a command that publishes is ended, in milliseconds. */
const PUBLISH_MS = 60_000

/** The time for which the output of a command that has ended is read, in milliseconds. */
const OUTPUT_MS = 1000

/** The characters of its output that an error shows. */
const SHOWN = 300

/**
 * Returns a function that runs a command of the operator in a shell for each checkpoint, with the text of the checkpoint as its
 * standard input. Throws OperationError when the command fails.
 */
export function publishBy(command: string): (note: string) => Promise<void> {
  return (note) =>
    new Promise((resolve, reject) => {
      const child = spawn(command, { shell: true, stdio: ['pipe', 'ignore', 'pipe'], timeout: PUBLISH_MS })
      let output = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(0, SHOWN)
      })
      const fail = (fault: string): void => {
        const said = output.trim() === '' ? '' : `: ${output.trim()}`
        reject(new OperationError(`the command of --publish ${fault}${said}`, 'publish_failed'))
      }
      // What it left running in the background may keep the pipe open.
      child.on('exit', () => setTimeout(() => child.stderr.destroy(), OUTPUT_MS).unref())
      child.on('error', (error) => fail(`could not be started (${error.message})`))
      child.on('close', (code, signal) => {
        if (code === 0) resolve()
        else
          fail(
            signal === null ? `exited with ${code}` : `was ended by ${signal} after ${PUBLISH_MS / 1000} s`,
          )
      })
      // The command may not read its input.
      child.stdin.on('error', () => undefined)
      child.stdin.end(note)
    })
}
