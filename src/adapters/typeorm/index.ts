import type { StackAdapter } from '../adapter.js';

const READS = ['find', 'findBy', 'findOne', 'findOneBy', 'findOneOrFail', 'findOneByOrFail', 'findAndCount', 'findAndCountBy', 'findByIds', 'findOneById',
  'count', 'countBy', 'exist', 'exists', 'existsBy', 'sum', 'average', 'minimum', 'maximum', 'preload'];
const MANY = ['find', 'findBy', 'findByIds'];
const ONE = ['findOne', 'findOneBy', 'findOneOrFail', 'findOneByOrFail', 'findOneById', 'preload'];
const WRITES = ['save', 'insert', 'update', 'updateAll', 'upsert', 'delete', 'deleteAll', 'remove', 'softDelete', 'softRemove', 'restore', 'recover',
  'increment', 'decrement', 'clear'];
const BUILDER_READS = ['getOne', 'getOneOrFail', 'getMany', 'getManyAndCount', 'getRawOne', 'getRawMany', 'getRawAndEntities', 'getCount', 'getExists', 'stream'];

/** TypeORM 0.2, 0.3 and 1.x. Facts from the typings of `typeorm` (repository, entity-manager, query-builder, query-runner). */
const typeorm = {
  name: 'typeorm',
  title: 'TypeORM',
  docs: 'https://typeorm.io',
  language: 'ts',
  enablers: ['typeorm'],
  types: {
    'typeorm:DataSource': {
      members: {
        manager: 'typeorm:EntityManager', 'getRepository()': 'typeorm:Repository', 'getTreeRepository()': 'typeorm:Repository', 'getMongoRepository()': 'typeorm:Repository',
        'getCustomRepository()': 'instance-of:0', 'createQueryRunner()': 'typeorm:QueryRunner', 'createQueryBuilder()': 'typeorm:SelectQueryBuilder',
        'createEntityManager()': 'typeorm:EntityManager', 'initialize()': 'this', 'connect()': 'this',
      },
      targetOf: ['getRepository', 'getTreeRepository', 'createQueryBuilder'],
      identityOf: ['createQueryRunner'],
    },
    'typeorm:EntityManager': {
      members: {
        connection: 'typeorm:DataSource', dataSource: 'typeorm:DataSource', queryRunner: 'typeorm:QueryRunner',
        'getRepository()': 'typeorm:Repository', 'getTreeRepository()': 'typeorm:Repository', 'withRepository()': 'argument:0', 'getCustomRepository()': 'instance-of:0',
        'createQueryBuilder()': 'typeorm:SelectQueryBuilder',
      },
      targetOf: ['getRepository', 'getTreeRepository', 'createQueryBuilder'],
    },
    'typeorm:Repository': {
      members: { manager: 'typeorm:EntityManager', 'createQueryBuilder()': 'typeorm:SelectQueryBuilder', 'extend()': 'this', 'create()': 'entity' },
      extendedBy: 'extend',
    },
    'typeorm:BaseEntity': {
      members: { 'createQueryBuilder()': 'typeorm:SelectQueryBuilder', 'getRepository()': 'typeorm:Repository', 'create()': 'entity', 'merge()': 'entity', 'reload()': 'this' },
      isEntity: true,
    },
    'typeorm:QueryRunner': { members: { manager: 'typeorm:EntityManager', connection: 'typeorm:DataSource', 'connect()': 'this' } },
    'typeorm:SelectQueryBuilder': {
      members: {
        'insert()': 'typeorm:InsertQueryBuilder', 'update()': 'typeorm:UpdateQueryBuilder', 'delete()': 'typeorm:DeleteQueryBuilder',
        'softDelete()': 'typeorm:SoftDeleteQueryBuilder', 'restore()': 'typeorm:SoftDeleteQueryBuilder', 'relation()': 'typeorm:RelationQueryBuilder', 'execute()': 'external:Rows',
      },
      fluent: true, targetOf: ['from', 'update', 'delete', 'relation'],
    },
    'typeorm:InsertQueryBuilder': { members: { 'execute()': 'external:Rows' }, fluent: true, targetOf: ['into'] },
    'typeorm:UpdateQueryBuilder': { members: { 'execute()': 'external:Rows' }, fluent: true, targetOf: ['update'] },
    'typeorm:DeleteQueryBuilder': { members: { 'execute()': 'external:Rows' }, fluent: true, targetOf: ['from'] },
    'typeorm:SoftDeleteQueryBuilder': { members: { 'execute()': 'external:Rows' }, fluent: true, targetOf: ['from'] },
    'typeorm:RelationQueryBuilder': { members: {}, fluent: true },
  },
  aliases: {
    'typeorm:Connection': 'typeorm:DataSource', 'typeorm:TreeRepository': 'typeorm:Repository', 'typeorm:MongoRepository': 'typeorm:Repository',
    'typeorm:AbstractRepository': 'typeorm:Repository', 'typeorm:MongoEntityManager': 'typeorm:EntityManager',
  },
  functions: {
    'typeorm:getRepository': 'typeorm:Repository', 'typeorm:getConnection': 'typeorm:DataSource', 'typeorm:createConnection': 'typeorm:DataSource',
    'typeorm:getManager': 'typeorm:EntityManager', 'typeorm:getCustomRepository': 'instance-of:0',
  },
  effects: [
    { effect: 'write', on: ['typeorm:Repository', 'typeorm:EntityManager'], call: WRITES, target: 0 },
    { effect: 'write', on: ['typeorm:BaseEntity'], call: WRITES },
    { effect: 'read', on: ['typeorm:BaseEntity'], call: READS, many: MANY, one: ONE },
    { effect: 'write', on: ['typeorm:InsertQueryBuilder', 'typeorm:UpdateQueryBuilder', 'typeorm:DeleteQueryBuilder', 'typeorm:SoftDeleteQueryBuilder'], call: ['execute'] },
    { effect: 'write', on: ['typeorm:RelationQueryBuilder'], call: ['add', 'remove', 'set', 'addAndRemove'] },
    { effect: 'write', on: ['typeorm:DataSource', 'typeorm:EntityManager', 'typeorm:QueryRunner', 'typeorm:Repository'], call: ['query', 'sql'], sql: 0 },
    { effect: 'read', on: ['typeorm:Repository', 'typeorm:EntityManager'], call: READS, many: MANY, one: ONE },
    { effect: 'read', on: ['typeorm:SelectQueryBuilder'], call: BUILDER_READS, many: ['getMany', 'getRawMany'], one: ['getOne', 'getOneOrFail'] },
  ],
  transactions: [
    { style: 'callback', on: ['typeorm:DataSource', 'typeorm:EntityManager'], call: ['transaction'], handle: 'typeorm:EntityManager' },
    { style: 'callback', on: ['typeorm:getManager', 'typeorm:getConnection'], call: ['transaction'], handle: 'typeorm:EntityManager' },
    { style: 'imperative', on: ['typeorm:QueryRunner'], open: 'startTransaction', commit: 'commitTransaction', rollback: 'rollbackTransaction' },
  ],
} satisfies StackAdapter;

export default typeorm;
