import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A slow API: each response is sent this many milliseconds after its request, any number at once. The arguments are the delay, and the
 * addresses to listen at, all with the port of the first.
 */
const [delay = '1000', first = '127.0.0.1', ...others] = process.argv.slice(2)

const servers = [first, ...others].map(() =>
  createServer((request, response) => {
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ label: `label of ${request.url}` }))
    }, Number(delay))
  }),
)
for (const server of servers) server.keepAliveTimeout = 60_000

const [main, ...rest] = servers
main?.listen(0, first, () => {
  const { port } = main.address() as AddressInfo
  let waiting = rest.length
  const ready = (): void => console.log(`http://${first}:${port}`)
  if (waiting === 0) ready()
  rest.forEach((server, index) =>
    server.listen(port, others[index], () => {
      waiting -= 1
      if (waiting === 0) ready()
    }),
  )
})
process.on('SIGTERM', () => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
})
