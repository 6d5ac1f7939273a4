/*
 * Loaded into a process with `--import`: on SIGUSR2 it collects its garbage and says on standard error, in one line,
 * how many bytes its heap and the whole process have.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  process.on('SIGUSR2', () => {
    // Twice: what the first leaves to finalizers the second takes.
    collect()
    collect()
    const { heapUsed, external, rss } = process.memoryUsage()
    process.stderr.write(`memory ${heapUsed + external} ${rss}\n`)
  })
}
