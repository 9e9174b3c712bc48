// @dimforge/rapier3d-compat: bodies fall on a floor and on each other.
import { check } from './fixed.mjs';
import rapier from '@dimforge/rapier3d-compat';

const [SIDE, STEPS] = [6, 40];
await rapier.init();
const world = new rapier.World({ x: 0, y: -9.81, z: 0 });
world.createCollider(rapier.ColliderDesc.cuboid(50, 0.5, 50));
const bodies = [];
for (let i = 0; i < SIDE ** 3; i += 1) {
  const [x, y, z] = [i % SIDE, 2 + Math.floor(i / SIDE ** 2) * 1.3, Math.floor(i / SIDE) % SIDE];
  const body = world.createRigidBody(rapier.RigidBodyDesc.dynamic().setTranslation(x * 1.1 + y * 0.05, y, z * 1.1));
  const shape = i % 3 ? rapier.ColliderDesc.cuboid(0.5, 0.5, 0.5) : rapier.ColliderDesc.ball(0.5);
  world.createCollider(shape.setRestitution(0.3), body);
  bodies.push(body);
}
for (let step = 0; step < STEPS; step += 1) world.step();
const heights = bodies.map((body) => body.translation().y);
check(heights.every((y) => y > 0.5 && y < 13), 'all lie on the floor or on each other');
console.log(heights.reduce((sum, y) => sum + y, 0));
