/** Runs commands of `colophon` in a thread, one after the other, for {@link runCommand}. */
import { Readable, Writable } from 'node:stream'
import { parentPort } from 'node:worker_threads'
import { main } from '../../src/cli/main.ts'
import type { CommandRequest } from './run-command.ts'

/** A standard stream that collects its output. */
class Captured extends Writable {
  readonly #chunks: Buffer[] = []

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk)
    done()
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}

parentPort?.on('message', ({ args, input, env }: CommandRequest) => {
  const [stdout, stderr] = [new Captured(), new Captured()]
  Object.defineProperties(process, {
    stdin: { configurable: true, value: Readable.from([Buffer.from(input)]) },
    stdout: { configurable: true, value: stdout },
    stderr: { configurable: true, value: stderr },
  })
  process.env = { ...env }
  process.argv = [process.execPath, 'colophon', ...args]
  process.exitCode = undefined
  void run().then((code) => parentPort?.postMessage({ code, stdout: stdout.text(), stderr: stderr.text() }))
})

/** Runs the command in the arguments of the process; returns its exit code. */
async function run(): Promise<number> {
  try {
    await main(process.argv)
    return Number(process.exitCode ?? 0)
  } catch (error) {
    process.stderr.write(String(error instanceof Error ? error.stack : error))
    return 1
  }
}
