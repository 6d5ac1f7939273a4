/**
 * Loaded into a process with `--import`: on SIGUSR2 it collects its garbage and prints the bytes of its heap and of the whole process,
 * and the number of its open connections, to standard error, in one line.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  process.on('SIGUSR2', () => {
    // Twice: objects that the first run leaves to finalizers are collected by the second.
    collect()
    collect()
    const { heapUsed, external, rss } = process.memoryUsage()
    const connections = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
    process.stderr.write(`memory ${heapUsed + external} ${rss} ${connections}\n`)
  })
}
