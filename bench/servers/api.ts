import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The API of derivations: a small response at once to any request. */
const server = createServer((request, response) => {
  const body = JSON.stringify({ label: `label of ${request.url}` })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.on('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
