#!/busybox sh
# The guest's first process. guest.py draws what it mounts.
/busybox mkdir -p /bin /proc /host /upper /root
/busybox --install -s /bin
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LANG=C.UTF-8
mount -t proc proc /proc
for module in /modules/*; do insmod "$module"; done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=512000,cache=loose host /host
mount -t tmpfs tmpfs /upper
mkdir /upper/files /upper/work
mount -t overlay -o lowerdir=/host,upperdir=/upper/files,workdir=/upper/work overlay /root
mount -t proc proc /root/proc
mount -t sysfs sysfs /root/sys
mount -t bpf bpf /root/sys/fs/bpf
mount -t devtmpfs devtmpfs /root/dev
mkdir -p /root/dev/pts /root/dev/shm
mount -t devpts devpts /root/dev/pts
ln -sf /proc/self/fd /root/dev/fd
for empty in dev/shm run tmp; do mount -t tmpfs tmpfs /root/$empty; done
chmod 1777 /root/tmp /root/dev/shm
mkdir -p /root/run/out /root/lib/modules
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 out /root/run/out
modules=$(sed 's/.*modules=\([^ ]*\).*/\1/' /proc/cmdline)
mount -o bind "/root$modules" /root/lib/modules
ip link set lo up
# In place of this process, for the kernel looks for modprobe where the first process has its root.
exec chroot /root /bin/sh -c '
  sh /run/out/script > /run/out/output 2>&1
  echo $? > /run/out/exit_code
  sync
  echo o > /proc/sysrq-trigger
  while :; do :; done'
