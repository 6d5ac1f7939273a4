/** The SQL dialect of a store. */
export type Dialect = 'sqlite' | 'postgres'
