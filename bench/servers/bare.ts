import Fastify from 'fastify'

/**
 * The reference for requests over HTTP: plain Fastify that responds to GET with the bytes of an earlier PUT, and to POST, after parsing the
 * body, with a small object.
 */
const app = Fastify({ bodyLimit: 64 << 20 })
let answer = ''

app.put('/answer', (request, reply) => {
  answer = (request.body as { text: string }).text
  return reply.send({ length: answer.length })
})
app.get('/answer', (_request, reply) => reply.type('application/json; charset=utf-8').send(answer))
app.post('/records', (request) => ({ records: (request.body as { records: unknown[] }).records.length }))

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
process.on('SIGTERM', () => void app.close())
