import { BODY_VALUES } from '../../src/http/middleware/body-parser.ts'
import { CSRF, runScenarios } from '../support/http-fixture.ts'

const query = (payload: object | string, headers: Record<string, string> = {}) => ({
  method: 'POST' as const,
  url: '/api/query',
  headers: { 'content-type': 'application/json', ...headers },
  payload,
})

const deep = '['.repeat(100_000) + ']'.repeat(100_000)

runScenarios('queries', [
  {
    name: 'a query returns rows and their count, without a CSRF token and without frames',
    request: query({ sql: 'SELECT id, price FROM records WHERE price > ? ORDER BY id', params: [1] }),
    status: 200,
    body: {
      rows: [
        { id: 'a', price: 1.5 },
        { id: 'b', price: 2 },
      ],
      count: 2,
    },
  },
  {
    name: 'D36: `params` of null is absent',
    request: query({ sql: 'SELECT 1 AS one', params: null }),
    status: 200,
    body: { rows: [{ one: 1 }], count: 1 },
  },
  {
    name: 'a result has its columns on request, also without rows',
    request: query({ sql: 'SELECT price, id FROM records WHERE 1 = 0', columns: true }),
    status: 200,
    body: { rows: [], count: 0, columns: ['price', 'id'] },
  },
  {
    name: 'a body with more values than any list of parameters may have is refused while it is parsed',
    request: query(`{"sql":"SELECT 1","params":[${'1,'.repeat(BODY_VALUES)}1]}`),
    status: 400,
    error: ['ValidationError', /^the body has more than 150000 values; send fewer at once$/],
  },
  {
    name: 'and no columns otherwise',
    request: query({ sql: 'SELECT price, id FROM records WHERE 1 = 0', columns: false }),
    status: 200,
    body: { rows: [], count: 0 },
  },
  {
    name: 'anything but a SELECT is a QueryError',
    request: query({ sql: 'DELETE FROM records' }),
    status: 400,
    error: ['QueryError', /./],
    then: async ({ app }) => {
      const response = await app.inject({ url: '/api/records/a' })
      if (response.statusCode !== 200) throw new Error('the record is gone')
    },
  },
  {
    name: 'a query without sql is a ValidationError',
    request: query({}),
    status: 400,
    error: ['ValidationError', /^"sql" is required$/],
  },
  {
    name: 'sql that is not a string is a ValidationError with the value seen',
    request: query({ sql: 7 }),
    status: 400,
    error: ['ValidationError', /^"sql" is 7; expected a string$/],
  },
  {
    name: 'D18: a parameter other than null, a boolean, a number or a string is a ValidationError with its position',
    request: query({ sql: 'SELECT ?', params: [1, {}] }),
    status: 400,
    error: [
      'ValidationError',
      /^"params\[1\]" is an object; expected null, a boolean, a number or a string$/,
    ],
  },
  {
    name: 'a number too large for JSON numbers is a ValidationError',
    request: query('{"sql":"SELECT ?","params":[1e999]}'),
    status: 400,
    error: [
      'ValidationError',
      /^the body has a number that would lose digits: 1e999 is out of the range of numbers; send it as a string/,
    ],
  },
  {
    name: 'a parameter that would lose digits is a ValidationError with its text',
    request: query('{"sql":"SELECT ?","params":[1234567890123456781]}'),
    status: 400,
    error: ['ValidationError', /: 1234567890123456781 is an integer beyond ±9007199254740991; send it as a/],
  },
  {
    name: 'a misspelt member is a ValidationError that names the known ones',
    request: query({ sql: 'SELECT 1 AS one', param: [1] }),
    status: 400,
    error: ['ValidationError', /"param".*sql, params/],
  },
  {
    name: 'D36: an empty body with a content type is {}',
    request: query(''),
    status: 400,
    error: ['ValidationError', /^"sql" is required$/],
  },
  {
    name: 'D36: an invalid content type counts only with a body',
    request: { method: 'POST', url: '/api/query', headers: { 'content-type': 'no type at all' } },
    status: 400,
    error: ['ValidationError', /^"sql" is required$/],
  },
  {
    name: 'D36: a body of another content type is a 415',
    request: query('sql=SELECT', { 'content-type': 'application/x-www-form-urlencoded' }),
    status: 415,
    error: ['ValidationError', /application\/x-www-form-urlencoded.*application\/json/],
  },
  {
    name: 'D36: a body of a malformed content type is a 415',
    request: query('{}', { 'content-type': 'json' }),
    status: 415,
    error: ['ValidationError', /application\/json/],
  },
  {
    name: 'D36: a charset other than UTF-8 is a 415',
    request: query('{}', { 'content-type': 'application/json; charset=latin1' }),
    status: 415,
    error: ['ValidationError', /latin1/],
  },
  {
    name: 'a charset of UTF-8 is accepted',
    request: query('{"sql":"SELECT 1 AS one"}', { 'content-type': 'application/json; charset="UTF-8"' }),
    status: 200,
    body: { rows: [{ one: 1 }], count: 1 },
  },
  {
    name: 'D36: a compressed body is a 415',
    request: query('{}', { 'content-encoding': 'gzip' }),
    status: 415,
    error: ['ValidationError', /gzip/],
  },
  {
    name: 'D36: a body that is not UTF-8 is a ValidationError',
    request: { ...query({}), payload: Buffer.from([0x7b, 0xff, 0x7d]) },
    status: 400,
    error: ['ValidationError', /UTF-8/],
  },
  ...['[]', '7', 'null', '"text"'].map((payload) => ({
    name: `D36: the body ${payload} is a ValidationError, since it is not an object`,
    request: query(payload),
    status: 400,
    error: ['ValidationError', /JSON object/] as const,
  })),
  {
    name: 'a body of 100,000 levels is a ValidationError and not a crash',
    request: query(deep),
    status: 400,
    error: ['ValidationError', /512 levels deep/],
  },
  {
    name: 'a member of 100,000 levels is a ValidationError and not a crash',
    request: query(`{"sql":${deep}}`),
    status: 400,
    error: ['ValidationError', /512 levels deep/],
  },
  {
    name: 'a member called __proto__ is an unknown member',
    request: query('{"sql":"SELECT 1","__proto__":{"params":[1]}}'),
    status: 400,
    error: ['ValidationError', /"__proto__"/],
  },
  {
    name: 'D36: a body over the limit is a 413',
    request: query({ sql: 'x'.repeat(2000) }),
    options: { app: { bodyLimit: 1000 } },
    status: 413,
    error: ['ValidationError', /1000 bytes/],
  },
  {
    name: 'D36: the shape is checked before the contract, and the contract before the statement',
    request: query({ sql: 'nonsense' }, CSRF),
    options: { files: { contract: 'kind: Nonsense\n' } },
    status: 500,
    error: ['ContractError', /contract\.yaml/],
  },
])
