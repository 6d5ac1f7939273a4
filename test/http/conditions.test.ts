import { runScenarios, type Scenario } from '../support/http-fixture.ts'
import { perEngine } from '../support/engine.ts'

const whereOf = (condition: unknown): string =>
  `where=${encodeURIComponent(typeof condition === 'string' ? condition : JSON.stringify(condition))}`

const WITHOUT_A = { field: 'title', operator: 'not_contains', value: 'APP' }

/** The ids that a condition lets through on each route that takes one. */
const PAGES: readonly Scenario[] = (
  [
    [WITHOUT_A, '', 'b c'],
    [WITHOUT_A, '&sort=-title', 'c b'],
    [WITHOUT_A, '&sort=-title&position=1', 'b'],
    [WITHOUT_A, `&filter=${encodeURIComponent("id <> 'c'")}`, 'b'],
    [{ or: [{ field: 'id', operator: 'any_of', value: ['a'] }, { not: WITHOUT_A }] }, '', 'a'],
    [{ field: 'title', operator: 'equals', value: "') OR 1=1 --" }, '', ''],
    [{ search: 'BEA' }, '', 'b'],
    [{ search: 'A', fields: ['id'] }, '', 'a'],
    [{ search: "') OR 1=1 --" }, '', ''],
  ] as const
).map(([condition, more, ids]) => ({
  name: `a page with ${JSON.stringify(condition)}${more} has the records ${ids}`,
  request: { url: `/api/records?fields=id&${whereOf(condition)}${more}` },
  status: 200,
  body: {
    records: ids.split(' ').flatMap((id) => (id === '' ? [] : [{ id }])),
    format: 'json',
    limit: 50,
    next_cursor: null,
  },
}))

const ROUTES = ['records', 'summary', 'export/json', 'position?record_id=a', 'sql']

const REFUSALS: readonly Scenario[] = ROUTES.flatMap((route) =>
  (
    [
      ['', /^where is not JSON: ""/],
      [{ field: 'titel', operator: 'empty' }, /^unknown field "titel" \(did you mean "title"\?\); the contract has id, title/],
      [{ field: 'price', operator: 'contains', value: '1' }, /^the operator contains does not apply to the field price/],
      [{ search: '' }, /^where.search: the text is empty/],
      [{ search: 1 }, /^where.search: 1 is not a string/],
      [{ search: 'a', fields: ['titel'] }, /^unknown field "titel"/],
      [{ search: 'a', fields: [] }, /^where.fields must be an array of 1 to 1000 names, got an array of 0 items/],
      [{ search: 'a', operator: 'equals' }, /^where has the member "operator"/],
      [{ field: 'price', operator: 'equals', value: '1' }, /on the field price of type number: "1" is not a number/],
    ] as const
  ).map(
    ([condition, message]): Scenario => ({
      name: `${route} refuses ${JSON.stringify(condition)}`,
      request: { url: `/api/${route}${route.includes('?') ? '&' : '?'}${whereOf(condition)}` },
      status: 400,
      error: ['ValidationError', message],
    }),
  ),
) // prettier-ignore

runScenarios('conditions as data', [
  ...PAGES,
  ...REFUSALS,
  {
    name: 'the summary counts the records that match a condition',
    request: { url: `/api/summary?${whereOf(WITHOUT_A)}` },
    status: 200,
    body: { count: 2, fields: {} },
  },
  {
    name: 'a summary lists the values that contain a text',
    request: { url: `/api/summary?fields=title&search=AN` },
    status: 200,
    body: { count: 3, fields: { title: { nulls: 0, distinct: 3, top: [{ value: 'Bean', count: 1 }] } } },
  },
  {
    name: 'an export has the records that match a condition',
    request: { url: `/api/export/json?fields=id&${whereOf(WITHOUT_A)}` },
    status: 200,
    body: [{ id: 'b' }, { id: 'c' }],
  },
  ...(
    [
      [`record_id=c&${whereOf(WITHOUT_A)}`, 1],
      [`record_id=c&${whereOf(WITHOUT_A)}&sort=-title`, 0],
      [`record_id=a&${whereOf(WITHOUT_A)}`, null],
      ['record_id=b', 1],
      ['record_id=absent', null],
    ] as const
  ).map(([query, position]): Scenario => ({
    name: `the position for ${query} is ${position}`,
    request: { url: `/api/position?${query}` },
    status: 200,
    body: { position },
  })),
  {
    name: 'the position among records counts those that meet the condition',
    request: {
      url: `/api/position?record_id=c&among=${encodeURIComponent(JSON.stringify(WITHOUT_A))}`,
    },
    status: 200,
    body: { position: 1 },
  },
  {
    name: 'a bad condition on the counted records is refused',
    request: { url: '/api/position?record_id=c&among=[]' },
    status: 400,
    error: ['ValidationError', /^among must be an object, got an array of 0 items/],
  },
  {
    name: 'the position of no record is refused',
    request: { url: '/api/position' },
    status: 400,
    error: ['ValidationError', /record_id/],
  },
  {
    name: 'the dialect is that of the database',
    request: { url: '/api/sql' },
    status: 200,
    body: { dialect: perEngine({ sqlite: 'sqlite', postgres: 'postgres' }), filter: null },
  },
  {
    name: 'a condition is returned as a filter of the dialect',
    request: {
      url: `/api/sql?${whereOf({
        and: [
          { field: 'title', operator: 'starts_with', value: "O'" },
          { field: 'price', operator: 'at_least', value: 1.5 },
        ],
      })}`,
    },
    status: 200,
    body: perEngine({
      sqlite: { dialect: 'sqlite', filter: `instr(lower("title"), 'o''') = 1 AND "price" >= 1.5` },
      postgres: { dialect: 'postgres', filter: `strpos(lower("title"), 'o''') = 1 AND "price" >= 1.5` },
    }),
  },
])
