/** A small project with one handler of each kind; its dependencies are not installed. */
export const orderProject: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'orders', dependencies: { typeorm: '^0.3.27', '@nestjs/common': '^11.0.0', '@nestjs/microservices': '^11.0.0', pg: '^8.0.0' } }),
  'src/order.service.ts': `import { Inject, Injectable } from '@nestjs/common';
import { ClientProxy } from '@nestjs/microservices';
import { Repository } from 'typeorm';
import { Order } from './order';

@Injectable()
export class OrderService {
  constructor(private readonly orders: Repository<Order>, @Inject('ORDERS_CLIENT') private readonly client: ClientProxy) {}

  async place(order: Order): Promise<void> {
    await this.orders.save(order);
    this.client.emit('order.placed', { orderId: order.id });
  }

  async announce(): Promise<void> {
    this.client.emit('shop.opened', {});
  }
}
`,
  'src/order.ts': "import { Entity, PrimaryColumn } from 'typeorm';\n\n@Entity()\nexport class Order {\n  @PrimaryColumn() id!: string;\n}\n",
};

/** A project without a finding. */
export const safeProject: Readonly<Record<string, string>> = {
  ...orderProject,
  'src/order.service.ts': (orderProject['src/order.service.ts'] ?? '').replace('    await this.orders.save(order);\n', ''),
};

/** A subscriber that writes and has no inbox. */
export const subscriberSource = `import { Controller } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { Repository } from 'typeorm';
import { Order } from './order';

@Controller()
export class MailController {
  constructor(private readonly orders: Repository<Order>) {}

  @EventPattern('order.placed')
  async onPlaced(event: { orderId: string }): Promise<void> {
    await this.orders.update(event.orderId, {});
  }
}
`;
